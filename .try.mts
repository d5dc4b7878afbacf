import { readFileSync } from 'node:fs';
import { judgeCommand } from './src/policy/commands/judge-command.ts';
import { createFilePolicy } from './src/kernel/file-policy.ts';
const where = { root: '/T/ws', home: '/T/home', files: createFilePolicy() };
let bad = 0, n = 0;
for (const l of readFileSync('/work/shared/attacks/attacks.jsonl','utf8').trim().split('\n')) {
  const c = JSON.parse(l); if (c.tool !== 'bash' || typeof c.input?.command !== 'string') continue;
  const cmd = c.input.command.replaceAll('{{WS}}','/T/ws').replaceAll('{{OUT}}','/T/out').replaceAll('{{HOME}}','/T/home').replaceAll('{{T}}','/T');
  const j = judgeCommand(cmd, where); n++;
  const ok = c.expect.any_of.includes(j.verdict) || (j.verdict==='allow' && c.expect.any_of.includes('sandboxed'));
  const suspicious = j.verdict === 'allow' && !c.expect.any_of.includes('allow');
  if (!ok || suspicious) { bad++; console.log(ok ? 'sandboxed?' : 'BAD', c.id, c.class, JSON.stringify(cmd).slice(0,150), j.verdict, '|', j.reason, '| want', c.expect.any_of.join()); }
}
console.log(n, bad);
