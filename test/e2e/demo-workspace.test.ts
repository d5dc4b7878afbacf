import { cpSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commandWorkspace } from '../../src/testing/command-workspace.ts';

const demo = new URL('../../examples/demo-workspace', import.meta.url).pathname;

test('[A05] the skills of the demo workspace run through bash, and the report is written', async () => {
  await using ws = await commandWorkspace({ path: process.env['PATH'] ?? '/usr/bin:/bin' });
  cpSync(demo, ws.root, { recursive: true });
  const data = await ws.call('read_file', { path: 'data/mock_gerrit_data.json' });
  expect(data.text).toContain('payments-service');

  const analysed = await ws.call('bash', { command: 'python3 .claude/skills/gerrit_analysis.py' });
  const { stdout, exitCode } = analysed.value as { stdout: string; exitCode: number };
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    project: 'payments-service',
    changes: 8,
    merged: 6,
    medianHoursToFirstReview: 2.5,
    byOwner: { ana: 2, bo: 2, chen: 2, dee: 2 },
    waiting: [4106],
  });
  expect(analysed.text).toContain('"merged": 6');

  const written = await ws.call('bash', { command: 'python3 .claude/skills/generate_report.py' });
  expect(written.text).toContain('[Files: created reports/efficiency_report.md. Kept.]');
  const report = await ws.call('read_file', { path: 'reports/efficiency_report.md' });
  expect(report.text).toContain('| merged | 6 (75%) |');
  expect(readFileSync(ws.file('reports/efficiency_report.md'), 'utf8')).toContain('slowest change was 4102');
});
