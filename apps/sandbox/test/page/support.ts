/**
 * The page without the walk before it, and a real browser in front of it.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import type { Browser, Page as Tab } from 'playwright-core'
import { describe, expect, onTestFinished, vi } from 'vitest'
import type { Environment } from '../../src/environment.ts'
import { startPage } from '../../src/page/server.ts'
import { startWorld } from '../../src/world.ts'
import { CHROMIUM } from './browser.ts'

export { openBrowser } from './browser.ts'

const found = existsSync(CHROMIUM)
if (!found) console.warn(`There is no ${CHROMIUM}: what the page does in a browser is NOT tested.`)

// A machine that is busy with other tests is slow at drawing pages.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 })

/** A suite that needs a browser; without one it is skipped, and says so. */
export const describeInBrowser = describe.skipIf(!found)

/** A sandbox with its page, on free ports. */
export async function openSandbox(environment: Environment = {}) {
  const world = await startWorld({ PORT: '0', ...environment })
  const page = await startPage(world, 0)
  page.ready()
  return {
    world,
    url: page.url,
    async close() {
      await page.close()
      await world.close()
    },
  }
}

/** A sandbox for one test. */
export async function sandboxForTest(environment?: Environment) {
  const sandbox = await openSandbox(environment)
  onTestFinished(sandbox.close)
  return sandbox
}

/** A tab, and whatever it complained about. */
export async function openTab(browser: Browser, url: string): Promise<{ tab: Tab; complaints: string[] }> {
  const tab = await browser.newPage({
    viewport: { width: 1280, height: 800 },
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  onTestFinished(() => tab.close())
  tab.setDefaultTimeout(10_000)
  const complaints: string[] = []
  tab.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  tab.on('pageerror', (error) => complaints.push(error.message))
  tab.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && hostname !== 'localhost') complaints.push(`asked ${request.url()}`)
  })
  await tab.goto(url)
  return { tab, complaints }
}

/** Does what a button or a form of the page does. */
export async function act(url: string, action: string, values: object): Promise<void> {
  const response = await fetch(`${url}/actions/${action}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify(values),
  })
  if (!response.ok) throw new Error(await response.text())
}

/** Delivers an event as somebody outside does. */
export async function deliverFromOutside(hostUrl: string, route: string, event: object): Promise<void> {
  await fetch(`${hostUrl}/${route}/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(event),
  })
}

/** Asks again and again until it fits; a page takes a moment to draw what it was told. */
export function eventually<Value>(get: () => Value | Promise<Value>) {
  return expect.poll(get, { timeout: 15_000 })
}
