import { existsSync } from 'node:fs'

/** The shell is the same engine without windows, which take three quarters of a page’s time. */
const programs = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]
const executablePath = programs.find((program) => existsSync(program))
if (executablePath === undefined)
  console.warn(`There is none of ${programs.join(', ')}: pages are NOT tested in a browser.`)

const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync']

/** How tests launch their browser; `undefined` on a machine without one, where they are skipped. */
export const browserForTests =
  executablePath === undefined
    ? undefined
    : {
        executablePath,
        args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', ...quiet],
      }
