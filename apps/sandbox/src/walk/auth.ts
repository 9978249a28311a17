/**
 * The placeholder for an identity provider that is managed elsewhere: it answers, and does nothing.
 *
 * @module
 */
import { challenge, created, type Walk } from './step.ts'

/** The walk of `/auth/webhook`. */
export const authWalk: Walk = {
  route: 'auth',
  title: 'A placeholder, where identity is managed elsewhere',
  steps: [
    challenge('auth'),
    {
      title: 'It is healthy as long as it answers',
      event: { name: 'HEALTH_CHECK' },
      expect: {
        says: 'healthy, with nothing to probe',
        body: { status: 'healthy', checks: [] },
        silent: true,
      },
    },
    {
      title: 'It has nothing to do for a deployment',
      event: created('dep_login', {}),
      expect: {
        says: 'ignored, with a reason',
        body: { status: 'ignored', reason: /DEPLOYMENT_CREATED/ },
        silent: true,
      },
    },
  ],
}
