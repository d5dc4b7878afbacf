// `toolwright mcp` for tests that run from source: node --import tsx program.ts WORKSPACE [SETTING=VALUE …]
import { serveMcp } from '../../src/app/serve-mcp.ts';

const [workspace = '.', ...settings] = process.argv.slice(2);
const flags = Object.fromEntries(settings.map((setting) => setting.split(/=(.*)/s).slice(0, 2)));
const { stdin: input, stdout: output, stderr: errors, env } = process;
const served = await serveMcp({ workspace, env, flags, input, output, errors });
if (!served.ok) console.error(served.error.message);
process.exit(served.ok ? 0 : 4);
