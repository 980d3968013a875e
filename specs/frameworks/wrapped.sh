#!/usr/bin/env bash
# plain_train.py knows nothing of campaigns and stays as it is: signals, deadline, restarts and the record are the harness's.
set -eu
exec "$CAMPC_PYTHON" -m campc_harness exec --checkpoints "$CAMPC_CHECKPOINTS" -- \
  "$CAMPC_PYTHON" plain_train.py --steps 20 --seed "$CAMPC_SEED" --save-to "$CAMPC_CHECKPOINTS" --model "$CAMPC_OUTPUTS/model.pt"
