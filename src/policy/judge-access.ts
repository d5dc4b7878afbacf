import { posix } from 'node:path';
import type { Access } from '../kernel/access.ts';
import type { FilePolicy } from '../kernel/file-policy.ts';
import type { Rule, RuleVerdict } from './rule.ts';

/** What is said about one thing that a call touches. */
export interface Objection {
  readonly what: string;
  readonly verdict: RuleVerdict;
  readonly rule: string;
  readonly reason: string;
  /** Whether mode `auto` may answer in the person's place. */
  readonly liftable: boolean;
  /** Whether it is more than reading, which mode `plan` never allows. */
  readonly changes: boolean;
}

type FileUse = Extract<Access, { path: string }>;

/** The file policy's floors, then the user's rules, then what each use deserves by itself. */
export function judgeFile(access: FileUse, rules: readonly Rule[], files: FilePolicy, root: string): Objection {
  const path = posix.relative(root, posix.resolve(root, access.path));
  const what = `${access.kind} ${access.path}`;
  const { access: may, rule: floor } = files.judge(path);
  const why = floor?.reason ?? '';
  if (may === 'hidden') {
    return said(
      'deny',
      'sensitive file',
      `${access.path} cannot be used: ${why}. A user can lift that in the configuration.`,
    );
  }
  const rule = rules.find((one) => one.matchesPath(path));
  if (rule?.verdict === 'deny') return said('deny', rule.text, `The rule ${rule.text} refuses it.`);
  if (access.kind !== 'fs.read' && may === 'read-only') {
    return said('ask', 'protected file', `${access.path} is protected: ${why}.`);
  }
  if (rule !== undefined) return said(rule.verdict, rule.text, `The rule ${rule.text} says so.`);
  if (access.kind === 'fs.read') return said('allow', 'reading', 'Reading inside the workspace is allowed.');
  if (access.kind === 'fs.write' && access.expect === 'absent')
    return said('allow', 'new file', 'It creates a new file.');
  return said('ask', 'changing', `It would ${access.kind === 'fs.delete' ? 'delete' : 'change'} ${access.path}.`, true);

  function said(verdict: RuleVerdict, by: string, reason: string, liftable = false): Objection {
    return { what, verdict, rule: by, reason, liftable, changes: access.kind !== 'fs.read' };
  }
}
