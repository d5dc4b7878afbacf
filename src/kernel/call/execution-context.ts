import { ToolError } from '../error.ts';

export interface ExecutionContextInit {
  /** The workspace root the call works in. */
  workingDir: string;
  sessionId?: string | null;
  agentId?: string | null;
  dryRun?: boolean;
  /** Seconds. */
  timeout?: number;
  /** Characters of text that reach the model; the rest is kept as an artifact. */
  maxOutputSize?: number;
  metadata?: Record<string, unknown>;
}

/** Where and how calls run: who asks, in which folder, for how long, with how much output. Immutable. */
export class ExecutionContext {
  readonly workingDir: string;
  readonly sessionId: string | null;
  readonly agentId: string | null;
  readonly dryRun: boolean;
  readonly timeout: number;
  readonly maxOutputSize: number;
  readonly metadata: Readonly<Record<string, unknown>>;

  constructor(init: ExecutionContextInit) {
    this.workingDir = text('workingDir', init.workingDir);
    this.sessionId = init.sessionId ?? null;
    this.agentId = init.agentId ?? null;
    this.dryRun = init.dryRun ?? false;
    this.timeout = positive('timeout', init.timeout ?? 120, 'seconds');
    this.maxOutputSize = positive('maxOutputSize', init.maxOutputSize ?? 100_000, 'characters');
    this.metadata = Object.freeze({ ...init.metadata });
    Object.freeze(this);
  }

  static from(context: ExecutionContext | ExecutionContextInit): ExecutionContext {
    return context instanceof ExecutionContext ? context : new ExecutionContext(context);
  }
}

function text(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(`ExecutionContext.${name} must be a non-empty string: give the folder the call works in.`);
}

function positive(name: string, value: unknown, unit: string): number {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value;
  throw invalid(`ExecutionContext.${name} must be a number of ${unit} above 0, got ${String(value)}.`);
}

function invalid(message: string): ToolError {
  return new ToolError('ExecutionContext', message, { code: 'INVALID_INPUT' });
}
