/** For the sandbox and the tests of this repository. Anything here may change in any release. */

export { eventNames, platformEvent } from './contract/event.ts'
export type { Json } from './contract/handler-context.ts'
export { callbackBodies } from './contract/platform.ts'
export { suggestion } from './contract/suggestion.ts'
export type { RecordedResponse } from './delivery/store.ts'
export type { LogLevel } from './log.ts'
export { problemSchema } from './openapi/problem-schema.ts'
export { exampleOf } from './openapi/shared.ts'
