export { blobContract } from './blob-contract.ts';
export type { ContractCheck } from './contract.ts';
export { ledgerContract, type OpenShared, type SharedLedger } from './ledger/ledger-contract.ts';
export { settingsContract } from './ledger/settings-contract.ts';
export { upkeepContract } from './ledger/upkeep-contract.ts';
export { storeContract } from './store-contract.ts';
export { type ToolContractOptions, toolContract } from './tool-contract.ts';
