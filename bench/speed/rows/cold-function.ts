import { join } from 'node:path'
import { milliseconds, times } from '../../shared/format.ts'
import { launchNode } from '../../shared/processes.ts'
import { hostEnvironment } from '../programs/host-environment.ts'
import { type Row, target } from '../row.ts'

export const coldFunction: Row = {
  id: 'cold-function',
  title: 'Cold start of the bundled function for Lambda, to the first 200',
  method:
    'As the row above, as a plain process: it loads the function, and calls it with the event of a `GET /healthz`. Lambda keeps no compiled code.',
  contenders: [
    { id: 'hono', title: 'bare hono', kind: 'floor' },
    { id: 'ours', title: 'our function', kind: 'ours' },
  ],
  rounds: 21,
  columns: [
    { value: 'initMs', title: 'to the first 200', format: milliseconds, against: ['hono'] },
    { value: 'cpuMs', title: 'processor time until then', format: milliseconds, against: ['hono'] },
  ],
  async start({ fixture }) {
    const invoke = await fixture.program('invoke')
    const files = new Map([
      ['hono', await fixture.bundle('cold-lambda-hono')],
      ['ours', join(fixture.folder, 'host/lambda/lambda.mjs')],
    ])
    async function measure(id: string): Promise<Record<'initMs' | 'cpuMs', number>> {
      const called = launchNode(invoke, { parameters: [files.get(id) ?? ''], environment: hostEnvironment })
      const [text] = await called.line(/^{"response".*/)
      await called.exit
      const { statusCode, initMs, cpuMs } = JSON.parse(text).response
      if (statusCode !== 200) throw new Error(`${id} responded with ${statusCode}.`)
      return { initMs, cpuMs }
    }
    return { warm: measure, measure }
  },
  targets: ({ ratio }) => [
    target('at most 1.50 × of bare hono', ratio('initMs', 'ours', 'hono').median, 1.5, times),
  ],
}
