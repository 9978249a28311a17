/**
 * The walks, in the order in which they are shown. A further route is a line here.
 *
 * @module
 */
import { authWalk } from './auth.ts'
import { idpWalk } from './idp.ts'
import { idpServerWalk } from './idp-server.ts'
import { mailerWalk } from './mailer.ts'
import type { Walk } from './step.ts'

/** Every route's walk. */
export const walks: readonly Walk[] = [authWalk, idpWalk, idpServerWalk, mailerWalk]
