"""What each command does, one file a command, imported when it is called."""
