/**
 * The parts of core that a host needs before its first event. It starts fast, because none of them makes a schema.
 */
export { editDistance, suggestion } from './contract/suggestion.ts'
export { toProblemResponse } from './delivery/response.ts'
export { memoryStore } from './delivery/stores/memory.ts'
export { within } from './delivery/within.ts'
export { namedHostsOnly } from './http/egress.ts'
export { createJsonLogger, escapeInvisible } from './log.ts'
export { createAddressHash } from './pipeline/messages.ts'
export { createRoutes } from './pipeline/routes.ts'
export { createRedactor, type Redactor, redactLines } from './redact.ts'
export { createConcurrencyLimit } from './request/capacity.ts'
export { createVerifier } from './request/signature.ts'
