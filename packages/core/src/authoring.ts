/** For authors of integrations that need more than the contract: their own parsing, and reservations. */

export { type JsonSchema, parsedByFunction, toJsonSchema } from './contract/marks.ts'
export { readRecordedDeployment, readResourceOwner } from './delivery/status.ts'
export { deploymentUnknown } from './pipeline/deployment.ts'
export { parseArguments } from './request/fields.ts'
