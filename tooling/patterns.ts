/** Finds regular expressions whose time grows faster than the text. */
import { createRequire } from 'node:module'
import { parseSync, Visitor } from 'oxc-parser'

// The package's main entry starts a Java or native program.
const { checkSync }: typeof import('recheck') = createRequire(import.meta.url)('recheck/lib/browser.js')

/**
 * Fewer rounds of guessing than by default, which finds the same and takes a quarter of the time. No time limit: on a
 * busy machine, it would leave patterns unjudged.
 */
const options = { maxIteration: 1, timeout: null }
/** A pattern without it reads each character a limited number of times. */
const UNBOUNDED = /[*+]|\{\d+,\}/

/** Every literal that backtracks, as “file: /pattern/”. A pattern that cannot be judged counts as one. */
export function findSlowPatterns(sources: ReadonlyMap<string, string>): string[] {
  const verdicts = new Map<string, string>()
  const judge = (pattern: string, flags: string) => {
    const key = `/${pattern}/${flags}`
    const isBounded = !UNBOUNDED.test(pattern)
    const verdict = verdicts.get(key) ?? (isBounded ? 'safe' : checkSync(pattern, flags, options).status)
    verdicts.set(key, verdict)
    return verdict
  }
  return [...sources].flatMap(([file, text]) => {
    const slow: string[] = []
    const visitor = new Visitor({
      Literal(node) {
        if (!('regex' in node)) return
        const { pattern, flags } = node.regex
        if (judge(pattern, flags) !== 'safe') slow.push(`${file}: /${pattern}/${flags}`)
      },
    })
    visitor.visit(parseSync(file, text).program)
    return slow
  })
}
