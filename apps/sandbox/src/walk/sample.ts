/** The walk of an integration that has no own: its life, and each function with the example of its contract. */
import { exampleOf } from '@org/core/internal'
import type { IntegrationSample } from '@org/core/testing'
import { lifeOf, type Walk } from './step.ts'

/** Makes the walk. */
export function walkOf({ definition, inputs }: IntegrationSample): Walk {
  const { name, title, functions, metrics } = definition
  const life = lifeOf(`dep_${name.replaceAll('-', '_')}`, inputs)
  const calls = Object.entries(functions).map(([called, { description, arguments: schema, effect }]) => ({
    title: description,
    event: life.call(called, exampleOf(schema)),
    expect: { says: effect ? 'done' : 'a result', body: { result: {} } },
  }))
  return {
    route: name,
    title,
    steps: [
      life.created('A deployment with an account of its own', {
        says: 'running',
        body: { status: 'running' },
        statuses: ['deploying', 'running'],
      }),
      life.healthy('A health check'),
      ...calls,
      life.metrics(() => Object.keys(metrics).map((metric) => ({ name: metric }))),
      life.deleted('The deployment ends', 'stopped', {}),
      life.late(),
    ],
  }
}
