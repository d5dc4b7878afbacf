import { posix } from 'node:path';
import type { RealPath } from '../kernel/ports.ts';
import type { Access } from '../kernel/tool/access.ts';
import { howToFree, secretDetails } from '../kernel/world/decided-files.ts';
import { type FilePolicy, type FileVerdict, isDisputed } from '../kernel/world/file-policy.ts';
import type { AccessJudgement } from './access-judgement.ts';
import { strictestRule } from './rules/path-rule.ts';
import type { Rule, RuleVerdict } from './rules/rule.ts';

const ORDINARY: FileVerdict = { access: 'writable', rule: null };

type FileUse = Extract<Access, { path: string }>;

/** Judges by the file policy first, then by the user's rules, then by the kind of use. */
export function judgeFile(
  access: FileUse,
  rules: readonly Rule[],
  files: FilePolicy,
  { root, real, isCollected }: { root: string; real?: RealPath; isCollected: boolean },
): AccessJudgement {
  const path = posix.relative(root, posix.resolve(root, access.path));
  const what = `${access.kind} ${access.path}`;
  const named = files.judge(path, real?.folder === true ? 'directory' : undefined);
  // The workspace resolves such a path only when it has looked at what is there.
  const { access: may, rule: floor } = real !== undefined && isDisputed(named) ? ORDINARY : named;
  const why = floor?.reason ?? '';
  const leadsTo = real === undefined || real.path === path ? undefined : real.path || '.';
  const found = strictestRule(rules, {
    path,
    real: real ?? { path, folder: false },
    changes: access.kind !== 'fs.read',
  });
  const rule = found?.rule;
  if (rule?.verdict === 'deny' && found?.by !== 'maybe below') return said('deny', rule.text, refusing(rule));
  if (may === 'hidden') {
    const reason = `${access.path} cannot be used: ${why}. ${howToFree(files, path)}`;
    return { ...said('deny', 'sensitive file', reason), details: { ...secretDetails(files, path) } };
  }
  if (rule?.verdict === 'deny') return said('ask', rule.text, refusing(rule));
  if (access.kind !== 'fs.read' && isCollected) {
    return said('allow', 'collected', 'The session collects its changes: they are decided about together.');
  }
  if (access.kind !== 'fs.read' && may === 'read-only') {
    return said('ask', 'protected file', `${access.path} is protected: ${why}.`);
  }
  if (rule !== undefined) return said(rule.verdict, rule.text, `The rule ${rule.text} says so.`);
  if (access.kind === 'fs.read') return said('allow', 'reading', 'Reading inside the workspace is allowed.');
  if (access.kind === 'fs.write' && access.expect === 'absent')
    return said('allow', 'new file', 'It creates a new file.');
  if (access.kind === 'fs.delete' && access.movedTo !== undefined) {
    const moving = said('ask', 'moving', `It would move ${access.path} to ${access.movedTo}.`, true);
    return { ...moving, losesNothing: true };
  }
  const change = access.kind === 'fs.delete' ? 'delete' : 'change';
  const leading = leadsTo === undefined ? '' : `, which leads to ${leadsTo}`;
  return said('ask', 'changing', `It would ${change} ${access.path}${leading}.`, true);

  function refusing({ text }: Rule): string {
    if (found?.by === 'maybe below') return `The rule ${text} may refuse something in it.`;
    if (found?.by === 'below') return `The rule ${text} refuses something in it.`;
    return leadsTo === undefined
      ? `The rule ${text} refuses it.`
      : `The rule ${text} refuses it: ${access.path} leads to ${leadsTo}.`;
  }

  function said(verdict: RuleVerdict, by: string, reason: string, liftable = false): AccessJudgement {
    return { what, verdict, rule: by, reason, liftable, changes: access.kind !== 'fs.read' };
  }
}
