/**
 * Begins a script that runs git so that it starts no program that the repository names: no monitor, no hook, no filter, no
 * remote helper. Only the configuration knows the names of filters, so each of them is first set to none. The repository is
 * that of `GIT_DIR`, or the one that git finds from the folder in which the script runs.
 */
export const SAFE_GIT = `
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 GIT_ALLOW_PROTOCOL=none
n=0
set_to() { export "GIT_CONFIG_KEY_$n=$1" "GIT_CONFIG_VALUE_$n=$2"; n=$((n + 1)); export GIT_CONFIG_COUNT=$n; }
set_to safe.directory '*'
set_to core.fsmonitor false
set_to core.hooksPath /dev/null
while IFS= read -r -d '' key; do
  case "$key" in *.required) set_to "$key" false ;; *) set_to "$key" '' ;; esac
done < <(git config --null --name-only --get-regexp '^filter\\.')
`;

/** Before it: the repository of the folder in which the script runs, and no other. */
export const OF_THIS_FOLDER = 'export GIT_DIR="$PWD/.git" GIT_WORK_TREE="$PWD"';
