export { blobContract } from './blob-contract.ts';
export type { ContractCheck } from './contract.ts';
export { ledgerContract, type OpenShared, type SharedLedger } from './ledger-contract.ts';
export { storeContract } from './store-contract.ts';
export { type ToolContractOptions, toolContract } from './tool-contract.ts';
export { upkeepContract } from './upkeep-contract.ts';
