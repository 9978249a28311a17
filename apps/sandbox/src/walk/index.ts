/** The walks, in the order in which they run. */

import { createSamples } from '../world/samples.ts'
import { idpWalk } from './idp.ts'
import { idpServerWalk } from './idp-server.ts'
import { mailerWalk } from './mailer.ts'
import { walkOf } from './sample.ts'
import { challenge, ignored, lifeOf, type Walk } from './step.ts'

const authWalk: Walk = {
  route: 'auth',
  title: 'A placeholder, where identity is managed elsewhere',
  steps: [
    {
      title: 'It is healthy as long as it responds',
      event: { name: 'HEALTH_CHECK' },
      expect: {
        says: 'healthy, with nothing to probe',
        body: { status: 'healthy', checks: [] },
        silent: true,
      },
    },
    lifeOf('dep_login', {}).created('It has nothing to do for a deployment', ignored(/DEPLOYMENT_CREATED/)),
  ],
}

/** The walk of each route. */
export const walks: readonly Walk[] = [
  authWalk,
  idpWalk,
  idpServerWalk,
  mailerWalk,
  ...createSamples().map(walkOf),
].map((walk) => ({
  ...walk,
  steps: [challenge(walk.route), ...walk.steps],
}))
