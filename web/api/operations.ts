import type { z } from 'zod';
import type { Operation, Routes } from '../../src/protocol/routes.ts';

/** The method and path of each operation. Only types are imported from the protocol: its schemas stay out of the page. */
export const OPERATIONS = {
  getHealth: 'GET /v1/health',
  switchMode: 'PUT /v1/mode',
  listModels: 'GET /v1/models',
  chooseModel: 'PUT /v1/model',
  saveModelKey: 'PUT /v1/model/key',
  startCall: 'POST /v1/calls',
  getCall: 'GET /v1/calls/:id',
  getCallOutput: 'GET /v1/calls/:id/output',
  cancelCall: 'POST /v1/calls/:id/cancel',
  undoCall: 'POST /v1/calls/:id/undo',
  listHistory: 'GET /v1/history',
  listTools: 'GET /v1/tools',
  getTool: 'GET /v1/tools/:name',
  switchTool: 'PATCH /v1/tools/:name',
  listSchemas: 'GET /v1/schemas',
  listApprovals: 'GET /v1/approvals',
  getApproval: 'GET /v1/approvals/:id',
  reviewEdit: 'POST /v1/approvals/:id/review',
  approve: 'POST /v1/approvals/:id/approve',
  deny: 'POST /v1/approvals/:id/deny',
  listChanges: 'GET /v1/changes',
  getChanges: 'GET /v1/changes/:id',
  getChangedFile: 'GET /v1/changes/:id/file',
  keepChanges: 'POST /v1/changes/:id/keep',
  discardChanges: 'POST /v1/changes/:id/discard',
  collectChanges: 'PUT /v1/sessions/:id/collecting',
  createSession: 'POST /v1/sessions',
  listSessions: 'GET /v1/sessions',
  startDemo: 'POST /v1/demo',
  sendMessage: 'POST /v1/sessions/:id/messages',
  stopSession: 'POST /v1/sessions/:id/stop',
  listSessionEvents: 'GET /v1/sessions/:id/events',
  listFiles: 'GET /v1/files',
  getGitStatus: 'GET /v1/files/git',
  getFile: 'GET /v1/files/content',
  saveFile: 'PUT /v1/files/content',
  readSecret: 'POST /v1/files/secret',
  listPathDecisions: 'GET /v1/paths',
  decidePath: 'POST /v1/paths',
  takePathBack: 'DELETE /v1/paths/:id',
} as const satisfies { [O in Operation]?: `${Routes[O]['method']} ${Routes[O]['path']}` };

export type ApiOperation = keyof typeof OPERATIONS;

type SchemaOutput<T> = T[keyof T] extends infer S ? (S extends z.ZodType ? z.output<S> : never) : never;

export type ApiAnswer<O extends ApiOperation> = SchemaOutput<Routes[O]['answers']>;
export type ApiBody<O extends ApiOperation> = Routes[O] extends { body: infer B extends z.ZodType }
  ? z.input<B>
  : undefined;
export type ApiQuery<O extends ApiOperation> = Routes[O] extends { query: infer Q extends z.ZodType }
  ? z.input<Q>
  : undefined;
