import { spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'

const built = new URL('../dist/node.js', import.meta.url).pathname
const sdk = new URL('otel.mjs', import.meta.url).href
const parent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const spanLine = z.object({
  name: z.string(),
  traceId: z.string(),
  spanId: z.string(),
  parent: z.string().optional(),
})

/** Runs the bundle alone in an empty folder, sends it one event, reads `/metrics`, and ends it. */
async function runBundle(...flags: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'host-'))
  copyFileSync(built, join(folder, 'node.mjs'))
  const child = spawn(process.execPath, [...flags, 'node.mjs'], {
    cwd: folder,
    env: { PLATFORM_API_URL: 'http://127.0.0.1:9', DELIVERY_STORE: 'memory:', PORT: '0' },
  })
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve))
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  let metrics = ''
  const lines: Record<string, unknown>[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    const written = JSON.parse(line)
    lines.push(written)
    if (!written.port) continue
    const url = `http://127.0.0.1:${written.port}`
    await fetch(`${url}/auth/webhook`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        traceparent: `00-${parent.traceId}-${parent.spanId}-01`,
      },
      body: JSON.stringify({ name: 'HEALTH_CHECK' }),
    })
    metrics = await (await fetch(`${url}/metrics`)).text()
    child.kill('SIGTERM')
  }
  return { code: await exit, said, metrics, lines }
}

describe('the bundled host', () => {
  it('sends its spans to an SDK that was loaded before it, the last ones at its end', async () => {
    const { code, said, lines } = await runBundle('--import', sdk)
    expect(code).toBe(0)
    const spans = said
      .trim()
      .split('\n')
      .map((line) => spanLine.parse(JSON.parse(line)))
    const event = spans.find(({ name }) => name === 'POST /auth/webhook')
    expect(event).toMatchObject({ traceId: parent.traceId, parent: parent.spanId })
    expect(spans.filter((span) => span.parent === event?.spanId).map(({ name }) => name)).toEqual([
      'handler',
      'report',
    ])
    expect(lines.find(({ event: name }) => name === 'HEALTH_CHECK')).toMatchObject({
      traceId: parent.traceId,
    })
  })

  it('without one says nothing of traces, and counts all the same', async () => {
    const { code, said, metrics, lines } = await runBundle()
    expect({ code, said }).toEqual({ code: 0, said: '' })
    expect(JSON.stringify(lines)).not.toContain('traceId')
    expect(metrics).toContain(
      'webhook_events_total{route="auth",event="HEALTH_CHECK",function="",outcome="ok"} 1\n',
    )
    expect(metrics).toMatch(/^process_resident_memory_bytes [1-9]\d+$/m)
    expect(metrics).toMatch(/^webhook_store_reachable 1$/m)
  })
})
