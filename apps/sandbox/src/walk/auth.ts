/**
 * The placeholder for an identity provider that is managed elsewhere: it answers, and does nothing.
 *
 * @module
 */
import { check } from '../check.ts'
import type { Walk } from './step.ts'

/** The walk of `/auth/webhook`. */
export const authWalk: Walk = {
  route: 'auth',
  title: 'A placeholder, where identity is managed elsewhere',
  steps: [
    {
      title: 'The platform asks whether anybody is there',
      event: { name: 'WEBHOOK_CHALLENGE', challenge: 'c_auth' },
      expect: ({ answer }) => [
        check('the challenge comes back', answer, { status: 200, body: { challenge: 'c_auth' } }),
      ],
    },
    {
      title: 'It is healthy as long as it answers',
      event: { name: 'HEALTH_CHECK' },
      expect: ({ answer, calls }) => [
        check('healthy, with nothing to probe', answer, {
          status: 200,
          body: { status: 'healthy', checks: [] },
        }),
        check('nobody was called', calls, []),
      ],
    },
    {
      title: 'A deployment means nothing to it',
      event: { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_login', inputs: {} } },
      expect: ({ answer, calls }) => [
        check('ignored, with a reason', answer, {
          status: 200,
          body: { status: 'ignored', reason: /DEPLOYMENT_CREATED/ },
        }),
        check('nobody was called', calls, []),
      ],
    },
  ],
}
