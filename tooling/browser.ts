import { existsSync } from 'node:fs'

/** The shell is the same engine without windows, which take three quarters of a page’s time. */
const programs = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
const executablePath = programs.find((program) => existsSync(program))
if (!executablePath)
  process.stderr.write(`SKIPPED: pages in a browser. There is none of ${programs.join(', ')}.\n`)

/** How tests launch their browser; `undefined` on a machine without one, where they are skipped. */
export const browserForTests = executablePath
  ? {
      executablePath,
      args: [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--no-first-run',
        '--disable-background-networking',
      ],
    }
  : undefined
