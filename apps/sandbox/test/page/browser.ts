/**
 * A real browser.
 *
 * @module
 */
import { type Browser, chromium } from 'playwright-core'

/** Where Debian’s package puts it. */
export const CHROMIUM = '/usr/bin/chromium'

/** A browser with an empty profile, for one file of tests. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
