/** The walks, in the order in which they run. */
import { exampleOf } from '@org/core/internal'
import type { IntegrationSample } from '@org/core/testing'
import { createSamples } from '../world/samples.ts'
import { idpWalk } from './idp.ts'
import { idpServerWalk } from './idp-server.ts'
import { mailerWalk } from './mailer.ts'
import { ignored, lifeOf, running, type Walk } from './step.ts'

const nothing = { ...ignored(/DEPLOYMENT_CREATED/), calls: [] }

const authWalk: Walk = {
  route: 'auth',
  title: 'A placeholder, where identity is managed elsewhere',
  steps: [
    {
      title: 'It is healthy as long as it responds',
      event: { name: 'HEALTH_CHECK' },
      expect: { says: 'healthy, with nothing to probe', body: { status: 'healthy', checks: [] }, calls: [] },
    },
    lifeOf('dep_login', {}).created('It has nothing to do for a deployment', nothing),
  ],
}

/** The walk of an integration that has no own: its life, and each function with the example of its contract. */
function walkOf({ definition, inputs }: IntegrationSample): Walk {
  const { name, title, functions, metrics } = definition
  const life = lifeOf(`dep_${name.replaceAll('-', '_')}`, inputs)
  const calls = Object.entries(functions).map(([called, { description, arguments: schema, effectful }]) =>
    life.call(description, called, exampleOf(schema), {
      says: effectful ? 'done' : 'a result',
      body: { result: {} },
    }),
  )
  return {
    route: name,
    title,
    steps: [
      life.created('A deployment with an account of its own', running('running')),
      life.healthy('A health check'),
      ...calls,
      life.metrics(() => Object.keys(metrics).map((metric) => ({ name: metric }))),
      life.deleted('The deployment ends', 'stopped'),
      life.late(),
    ],
  }
}

/** Every walk begins with a challenge. */
function challenged({ route, title, steps }: Walk): Walk {
  const challenge = `c_${route.replaceAll('-', '_')}`
  const first = {
    title: 'The platform checks that the route responds',
    event: { name: 'WEBHOOK_CHALLENGE', challenge },
    expect: { says: 'the challenge comes back', body: { challenge } },
  } as const
  return { route, title, steps: [first, ...steps] }
}

/** The walk of each route. */
export const walks: readonly Walk[] = [
  authWalk,
  idpWalk,
  idpServerWalk,
  mailerWalk,
  ...createSamples().map(walkOf),
].map(challenged)
