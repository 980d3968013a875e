import {
  commands,
  env,
  type ExtensionContext,
  type OutputChannel,
  window,
  workspace,
} from "vscode";
import {
  LanguageClient,
  type LanguageClientOptions,
  type ServerOptions,
  TransportKind,
} from "vscode-languageclient/node";

let client: LanguageClient | undefined;
let output: OutputChannel;
/** Starts and stops follow one another, however fast the settings change. */
let turn: Promise<void> = Promise.resolve();

/** A server that doesn't start is told of once, by the extension, with what to do; the library would show a second message. */
class Client extends LanguageClient {
  override error(message: string, data?: unknown, show?: boolean | "force"): void {
    super.error(message, data, this.isRunning() ? show : false);
  }
}

function command(): string[] {
  const folder = workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  const words = workspace.getConfiguration("campc").get<string[]>("command", ["campc", "lsp"]);
  return words.map((word) => word.replaceAll("${workspaceFolder}", folder));
}

async function start(): Promise<void> {
  const [program, ...args] = command();
  if (!program) {
    void window.showErrorMessage("campc.command is empty: say how the language server is started, as in [\"campc\", \"lsp\"].");
    return;
  }
  const server: ServerOptions = { command: program, args, transport: TransportKind.stdio };
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: "file", language: "campaign" },
      { scheme: "untitled", language: "campaign" },
    ],
    outputChannel: output,
  };
  client = new Client("campc", "campc", server, options);
  try {
    await client.start();
  } catch (reason) {
    output.appendLine(String(reason));
    const choice = await window.showErrorMessage(
      `The campc language server did not start (${[program, ...args].join(" ")}). Install it with: pip install "campc[lsp]"`,
      "Settings",
      "Output",
    );
    if (choice === "Settings") {
      // The command belongs to the machine that the server runs on, which in a remote window is another.
      const where = env.remoteName === undefined ? "openSettings" : "openRemoteSettings";
      await commands.executeCommand(`workbench.action.${where}`, { query: "campc.command" });
    } else if (choice === "Output") {
      output.show();
    }
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  if (running?.isRunning()) {
    await running.stop();
  }
}

function restart(): Promise<void> {
  turn = turn.then(stop).then(start, start);
  return turn;
}

export function activate(context: ExtensionContext): void {
  output = window.createOutputChannel("campc");
  context.subscriptions.push(
    output,
    commands.registerCommand("campc.restart", restart),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("campc.command")) {
        void restart();
      }
    }),
  );
  void restart();
}

export function deactivate(): Promise<void> {
  return turn.then(stop, stop);
}
