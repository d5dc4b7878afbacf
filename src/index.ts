export { type Agent, type AgentOptions, createAgent, type RunOptions, type RunOutcome } from './agent/create-agent.ts';
export { type CommandsOptions, type OpenCommands, openCommands } from './app/open-commands.ts';
export type { CallRecord, CallState, Effect, FinalState, Outcome } from './kernel/call/call.ts';
export type { CallMove, Event, LogEvent, NewEvent, StoredEvent } from './kernel/call/event.ts';
export { ExecutionContext, type ExecutionContextInit } from './kernel/call/execution-context.ts';
export type { HistoryQuery, Ledger, PruneLimits } from './kernel/call/ledger.ts';
export { StoreError, type StoreTrouble } from './kernel/call/store-error.ts';
export { ERROR_CODES, type ErrorCode, type Failure, ToolError } from './kernel/error.ts';
export type {
  ApprovalRequest,
  ApprovalResponse,
  Approver,
  BlobStore,
  CallQuery,
  Clock,
  Logger,
  Page,
  Policy,
  Store,
  Subject,
  Verdict,
} from './kernel/ports.ts';
export { fail, type MaybePromise, type Metadata, ok, type Result } from './kernel/result.ts';
export { type Access, UNKNOWN_ACCESS } from './kernel/tool/access.ts';
export { ToolCategory } from './kernel/tool/category.ts';
export type { CheckedArguments as Checked, InputSchema, Issue, JsonSchema } from './kernel/tool/input-schema.ts';
export type { KeptChanges } from './kernel/tool/kept-changes.ts';
export { type OwnReason, type Plan, type PlanFailure, type PlanResult, planFailure } from './kernel/tool/plan.ts';
export { defineTool, type Tool, type ToolContext, type ToolSource } from './kernel/tool/tool.ts';
export { type ParameterType, ToolParameter, type ToolParameterInit } from './kernel/tool/tool-parameter.ts';
export { ToolResult } from './kernel/tool/tool-result.ts';
export { decidedPolicies } from './kernel/world/decided-files.ts';
export {
  createFilePolicy,
  type FilePolicy,
  type FileVerdict,
} from './kernel/world/file-policy.ts';
export { createPathDecisions, type PathDecisionList } from './kernel/world/path-decision-list.ts';
export type { PathDecision, PathDecisionKind, PathDecisions } from './kernel/world/path-decisions.ts';
export type { RunRequest, RunResult, Sandbox } from './kernel/world/sandbox.ts';
export type { FileAccess, FileRule } from './kernel/world/sensitive-files.ts';
export type { Web, WebRequest, WebResponse, WebSearchAnswer, WebSearchHit } from './kernel/world/web.ts';
export type {
  AppliedChange as Applied,
  Caller,
  Change,
  Files,
  GlobAnswer,
  GlobQuery,
  GrepAnswer,
  GrepQuery,
  Search,
  World,
} from './kernel/world/workspace.ts';
export { anthropicModel } from './models/anthropic.ts';
export type { Model, ModelRequest } from './models/model.ts';
export type { ModelOptions } from './models/model-options.ts';
export { openaiChatModel } from './models/openai-chat.ts';
export { openaiResponsesModel } from './models/openai-responses.ts';
export { type ScriptedTurn, scriptedModel } from './models/scripted.ts';
export { createWeb, type WebAccess, type WebOptions, withWeb } from './net/create-web.ts';
export type { SearchSettings } from './net/search/settings.ts';
export { proposeRules, type RuleProposal as Proposal } from './policy/always/propose-rule.ts';
export { createPolicy, type ExplainingPolicy, type Explanation } from './policy/create-policy.ts';
export { MODES, type Mode } from './policy/mode.ts';
export type { CommandEffects, PolicyOptions } from './policy/policy-options.ts';
export { parseRule, parseRules, type RuleSet, type RuleSource } from './policy/rules/parse-rules.ts';
export type { Rule, RuleVerdict } from './policy/rules/rule.ts';
export { strictCommands } from './policy/rules/strict-list.ts';
export { allowAll, type RuntimeOptions } from './runtime/create-runtime.ts';
export { createToolwright, type Toolwright, type ToolwrightOptions } from './runtime/create-toolwright.ts';
export { type AnyContext, type CallOptions, type ExecutorOptions, ToolExecutor } from './runtime/executor.ts';
export type { ToolExecution } from './runtime/history.ts';
export { MemoryBlobs } from './runtime/memory/memory-blobs.ts';
export { MemoryStore } from './runtime/memory/memory-store.ts';
export type { AfterAnswer, BeforeAnswer, HookedCall, Hooks } from './runtime/pipeline/hooks.ts';
export { BaseTool, type LangChainTool, type ParameterValues } from './runtime/registry/base-tool.ts';
export type { PlainTool } from './runtime/registry/plain-tool.ts';
export { type AnyTool, ToolRegistry } from './runtime/registry/registry.ts';
export type { Toolset } from './runtime/registry/toolsets.ts';
export {
  SCHEMA_FORMATS,
  type SchemaFormat,
  type SchemaOf,
  toAnthropicTool,
  toJsonSchema,
  toOpenAIChatTool,
  toOpenAIFunction,
  toOpenAIResponsesTool,
} from './schema/formats.ts';
export { openStore, type StorePlace } from './storage/open.ts';
export type { OpenStore } from './storage/store-and-blobs.ts';
export { keepUp, type UpkeepOptions } from './storage/upkeep.ts';
export { builtInTools } from './tools/index.ts';
export { openWorkspace, type Workspace, type WorkspaceOptions } from './workspace/open-workspace.ts';
export type { FileEvent, FileNews, Watch } from './workspace/watch/watch.ts';
