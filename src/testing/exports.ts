export { type Check, type ToolContractOptions, toolContract } from './tool-contract.ts';
