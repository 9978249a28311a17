import core from './faults/core.json' with { type: 'json' }
import idp from './faults/idp.json' with { type: 'json' }
import mailer from './faults/mailer.json' with { type: 'json' }
import server from './faults/server.json' with { type: 'json' }
import type { Fault } from './mutation.ts'

/** All faults that tests should notice. */
export const allFaults: readonly Fault[] = [...core, ...mailer, ...idp, ...server]
