/**
 * The walks, in the order in which they run.
 *
 * @module
 */
import { authWalk } from './auth.ts'
import { idpWalk } from './idp.ts'
import { idpServerWalk } from './idp-server.ts'
import { mailerWalk } from './mailer.ts'
import type { Walk } from './step.ts'

/** The walk of each route. */
export const walks: readonly Walk[] = [authWalk, idpWalk, idpServerWalk, mailerWalk]
