/** The page without the walk before it, in a real browser. */
import { browserForTests } from '@org/tooling/browser'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest'
import { startPage } from '../../src/page/server.ts'
import type { Environment } from '../../src/world/listen.ts'
import { startWorld, type World } from '../../src/world/world.ts'

/** A sandbox with its page, on free ports, for one test. */
export async function sandboxForTest(environment: Environment = {}) {
  const world = await startWorld({ PORT: '0', ...environment })
  onTestFinished(world.close)
  const page = await startPage(world, 0)
  onTestFinished(page.close)
  page.ready()
  return { world, url: page.url }
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
      browser = await chromium.launch(browserForTests)
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
  onTestFinished(() => tab.close())
  tab.setDefaultTimeout(20_000)
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
    verdict: tab.getByRole('region', { name: 'What happened' }),
    dialog: tab.getByRole('dialog'),
  }
}

/** Performs an action, as a button or a form of the page does. */
export async function act(url: string, action: string, values: object): Promise<void> {
  const response = await fetch(`${url}/actions/${action}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify(values),
  })
  if (!response.ok) throw new Error(await response.text())
}

/** Calls a function from the page. */
export function callFunction(url: string, name: string, values: object, route = 'mailer'): Promise<void> {
  return act(url, 'event', { route, event: functionCall(name, values) })
}

/** Delivers an event from outside the sandbox. */
export async function deliverFromOutside({ url }: World, route: string, event: object): Promise<void> {
  await fetch(`${url}/${route}/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(event),
  })
}

/** Creates a deployment from the page. */
export function deploy(url: string, id: string, route = 'mailer', inputs: object = {}): Promise<void> {
  return act(url, 'event', { route, event: { name: 'DEPLOYMENT_CREATED', deployment: { id, inputs } } })
}

/** An event that calls a function. */
export function functionCall(name: string, args: object) {
  return { name: 'FUNCTION_CALL', functionCall: { name, arguments: args } }
}

/** Polls, because a page needs a moment to draw a change. */
export function eventually<Value>(get: () => Value | Promise<Value>) {
  return expect.poll(get)
}
