/** The page without the walk before it, in a real browser. */
import { deliver } from '@org/core/testing'
import { browserForTests } from '@org/tooling/browser'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest'
import { startPage } from '../../src/page/server.ts'
import type { Environment } from '../../src/world/listen.ts'
import { startWorld } from '../../src/world/world.ts'

/** An event that calls a function. */
export function functionCall(name: string, args: object) {
  return { name: 'FUNCTION_CALL', functionCall: { name, arguments: args } }
}

/** A sandbox with its page, on free ports, for one test. */
export async function sandboxForTest(environment: Environment = {}) {
  const world = await startWorld({ PORT: '0', ...environment })
  onTestFinished(world.close)
  const { url, ready, close } = await startPage(world, 0)
  onTestFinished(close)
  ready()

  /** Performs an action, as a button or a form of the page does. */
  async function act(action: string, values: object): Promise<void> {
    const headers = { 'content-type': 'application/json', origin: url }
    const body = JSON.stringify(values)
    const response = await fetch(`${url}/actions/${action}`, { method: 'POST', headers, body })
    if (!response.ok) throw new Error(await response.text())
  }
  const send = (route: string, event: object) => act('event', { route, event })
  return {
    world,
    url,
    act,
    /** Sends an event from the page. */
    send,
    call: (name: string, args: object, route = 'mailer') => send(route, functionCall(name, args)),
    deploy: (id: string, route = 'mailer', inputs: object = {}) =>
      send(route, { name: 'DEPLOYMENT_CREATED', deployment: { id, inputs } }),
    sendFromOutside: (route: string, event: object) =>
      deliver(fetch, event, { url: `${world.url}/${route}/webhook` }),
  }
}

/** A page in a browser. */
type Visit = Awaited<ReturnType<typeof sandboxForTest>> & Awaited<ReturnType<typeof openTab>>

/** A suite in a browser. Without a browser, it is skipped, and a warning says so. */
export function describeInBrowser(
  name: string,
  tests: (visit: (path?: string, environment?: Environment) => Promise<Visit>) => void,
): void {
  describe.skipIf(!browserForTests)(name, () => {
    let browser: Browser | undefined
    beforeAll(async () => {
      browser = await chromium.launch({ ...browserForTests, timeout: 150_000 })
    })
    afterAll(() => browser?.close())
    tests(async (path = '/', environment = {}) => {
      if (!browser) throw new Error('There is no browser.')
      const sandbox = await sandboxForTest(environment)
      const permissions = ['clipboard-read', 'clipboard-write']
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, permissions })
      onTestFinished(() => context.close())
      return { ...sandbox, ...(await openTab(context, sandbox.url + path)) }
    })
  })
}

/** Opens a tab; `complaints` has the errors of the page, and its requests to other machines. */
export async function openTab(context: BrowserContext, url: string) {
  const tab = await context.newPage()
  // Shorter than a test may take, so that its error names what is missing.
  tab.setDefaultTimeout(500_000)
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
  return {
    tab,
    complaints,
    /** Clicks the button of this name. */
    press: (name: string) => tab.getByRole('button', { name, exact: true }).click(),
    /** Clicks the link of this name. */
    follow: (name: string | RegExp) => tab.getByRole('link', { name, exact: true }).click(),
    /** Waits for each of these texts. */
    async see(...texts: (string | RegExp)[]) {
      for (const text of texts) await tab.getByText(text).first().waitFor()
    },
    verdict: tab.getByRole('region', { name: 'What happened' }),
    dialog: tab.getByRole('dialog'),
  }
}

/** Polls, because a page needs a moment to draw a change. */
export function eventually<Value>(get: () => Value | Promise<Value>) {
  return expect.poll(get)
}
