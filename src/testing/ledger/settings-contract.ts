import assert from 'node:assert/strict';
import type { PathDecisionKind } from '../../kernel/world/path-decisions.ts';
import { type ContractCheck, checksOf } from '../contract.ts';
import { AT } from '../sample-calls.ts';
import type { OpenShared, SharedLedger } from './ledger-contract.ts';

/** Contract of what a ledger keeps beside calls: rules, decisions about paths, and switched tools. */
export function settingsContract(open: OpenShared): ContractCheck[] {
  return checksOf<SharedLedger>(open, {
    async 'rules and tool states are what their events say'({ ledger, another }) {
      const rule = { ruleId: 'r1', rule: 'bash(npm test *)', verdict: 'allow', by: 'ann' } as const;
      await ledger.record({ type: 'rule.saved', at: AT, data: rule });
      await ledger.record({
        type: 'rule.saved',
        at: AT + 1,
        data: { ...rule, ruleId: 'r2', verdict: 'deny', workspace: 'w' },
      });
      await ledger.record({ type: 'rule.removed', at: AT + 2, data: { ruleId: 'r1', by: null } });
      await ledger.record({ type: 'tool.switched', at: AT, data: { tool: 'bash', enabled: false, by: null } });
      await ledger.record({ type: 'tool.switched', at: AT, data: { tool: 'grep', enabled: false, by: null } });
      await ledger.record({ type: 'tool.switched', at: AT, data: { tool: 'grep', enabled: true, by: null } });
      const other = await another();
      assert.deepEqual(await other.rules(), [
        { id: 'r2', rule: 'bash(npm test *)', verdict: 'deny', by: 'ann', savedAt: AT + 1, workspace: 'w' },
      ]);
      assert.deepEqual(
        [...(await other.toolStates())],
        [
          ['bash', false],
          ['grep', true],
        ],
      );
      assert.deepEqual(
        (await other.log(0, 10)).map(({ session, callId, seq }) => [session, callId, seq]),
        [1, 2, 3, 4, 5, 6].map((seq) => ['@system', null, seq]),
      );
    },

    async 'decisions about paths are what their events say'({ ledger, another }) {
      const made = (decisionId: string, kind: PathDecisionKind, digest: string | null = null) => {
        const data = { decisionId, workspace: 'w-1', path: 'src/.env', kind, digest, by: 'ann' };
        return { type: 'path.decided', at: AT, data } as const;
      };
      await ledger.record(made('d1', 'no-secret'));
      await ledger.record(made('d2', 'agreed-text', 'a'.repeat(64)));
      await ledger.record(made('d3', 'commands'));
      await ledger.record({ type: 'path.taken_back', at: AT + 1, data: { decisionId: 'd1', by: 'bob' } });
      await ledger.record({ ...made('d2', 'agreed-text', 'b'.repeat(64)), at: AT + 2 });
      const other = await another();
      const kept = { workspace: 'w-1', path: 'src/.env', by: 'ann' };
      assert.deepEqual(await other.pathDecisions(), [
        { ...kept, id: 'd3', kind: 'commands', digest: null, at: AT },
        { ...kept, id: 'd2', kind: 'agreed-text', digest: 'b'.repeat(64), at: AT + 2 },
      ]);
      const lines: string[] = [];
      for await (const line of ledger.exportLines()) lines.push(line);
      assert.equal(lines.filter((line) => line.includes('"path.taken_back"')).length, 1);
      assert.equal(lines.filter((line) => line.includes('src/.env')).length, 4);
      assert.deepEqual((await ledger.verify()).problems, []);
    },

    async 'odd text in rules, decisions and switches does no harm'({ ledger }) {
      const odd = `zero \0 half \ud800 ${'long '.repeat(2000)}`;
      const rule = { ruleId: odd, rule: odd, verdict: 'allow', by: odd } as const;
      await ledger.record({ type: 'rule.saved', at: AT, data: rule });
      await ledger.record({ type: 'tool.switched', at: AT, data: { tool: odd, enabled: false, by: odd } });
      const data = { decisionId: odd, workspace: odd, path: odd, kind: 'no-secret', digest: null, by: odd } as const;
      await ledger.record({ type: 'path.decided', at: AT, data });
      assert.equal((await ledger.rules()).length, 1);
      assert.equal((await ledger.toolStates()).size, 1);
      assert.equal((await ledger.pathDecisions()).length, 1);
      assert.deepEqual((await ledger.verify()).problems, []);
      await ledger.record({ type: 'rule.removed', at: AT, data: { ruleId: odd, by: null } });
      await ledger.record({ type: 'path.taken_back', at: AT, data: { decisionId: odd, by: odd } });
      assert.deepEqual(await ledger.rules(), []);
      assert.deepEqual(await ledger.pathDecisions(), []);
      assert.deepEqual((await ledger.verify()).problems, []);
    },
  });
}
