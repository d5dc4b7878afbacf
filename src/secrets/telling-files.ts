import type { FoundSecret } from './find-secrets.ts';
import { isPlaceholder, isRandom } from './secret-likeness.ts';

/** Words of file names under which people and programs keep secrets, and other things too: their content decides. */
const TELLING_WORD =
  /(?:^|[._\- ])(?:keys?|keystore|secrets?|credentials?|passwords?|passwd|tokens?|auth|env|environment|appsettings|kubeconfig)(?:[._\- ]|$)/i;
/** Settings of programs that sign in somewhere: package managers, version control, cloud tools, tunnels, agents. */
const TELLING_PATH =
  /(?:^|\/)(?:\.npmrc|\.yarnrc(?:\.yml)?|\.condarc|\.gitconfig|\.hgrc|\.m2\/settings\.xml|sftp-config\.json|ngrok\.ya?ml|profiles\.ya?ml|\.aider\.conf\.ya?ml|docker\/config\.json|kube\/config|(?:k8s|kubernetes)\/[^/]*\.conf)$/i;
/** Folders that are kept for them. */
const TELLING_FOLDER = /(?:^|\/)(?:secrets|passwords|\.ssh2|\.gcloud|\.supabase|svn\.simple)\//i;
const KEY_NAME = /id_(?:rsa|dsa|ecdsa|ed25519)|\.(?:pem|key|p12|pfx)\./i;
/** Source code names what it handles, and public keys are made of random letters. */
const OTHERS =
  /\.(?:[cm]?[jt]sx?|vue|svelte|go|rs|py|rb|java|kts?|scala|c|h|cc|cpp|hpp|cs|swift|php|exs?|lua|pl|dart|mdx?|rst|adoc|html?|css|scss|ipynb|snap|lock|pub|svg)$|(?:^|[/_.-])(?:authorized_keys|known_hosts|public|lock)(?:[/_.-]|$)/i;

/** Whether the name of a file makes every random value in it a secret, whatever stands beside the value. */
export function tellsOfSecrets(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (OTHERS.test(name)) return false;
  return TELLING_WORD.test(name) || KEY_NAME.test(name) || TELLING_PATH.test(path) || TELLING_FOLDER.test(path);
}

/** Shorter ones may be the number of a public key. */
const VALUES = /[^\s"'`,;<>(){}[\]=:]{20,400}/g;
const PUBLIC_BLOCK = /-----BEGIN (?:CERTIFICATE|[A-Z ]{0,20}PUBLIC KEY)-----[A-Za-z0-9+/=\s]*/g;
/** Sums of files, and places. */
const KNOWN = /^(?:sha\d+[-:]|\/\/|www\.|[\w.-]+\.(?:com|org|net|io|dev)(?:\/|$))/i;

/** Returns the random values in a text, in linear time. */
export function* randomValues(text: string): Generator<FoundSecret> {
  const open = text.replace(PUBLIC_BLOCK, (block) => ' '.repeat(block.length));
  for (const { 0: value, index } of open.matchAll(VALUES)) {
    if (KNOWN.test(value) || isPlaceholder(value) || !isRandom(value)) continue;
    yield { name: 'secret value', start: index, end: index + value.length };
  }
}
