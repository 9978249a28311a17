import { maskAddresses } from '@org/core/http'

/**
 * The words of the provider’s documented refusals, the names of its fields, and its limits. Any other word may be
 * a name, a file’s name or a subject that it quotes.
 */
const VOCABULARY = new Set(
  (
    'a account address addresses allowed and approval are as at attachment attachments batch bcc be been body both ' +
    'bounce by cc characters complaint confirmed contain contains content contentid contenttype credits does ' +
    'domain email empty error exceeded exceeds exist field fields file for found from hard has have header headers ' +
    'htmlbody illegal in inactive invalid is it json line mailbox marked maximum mb message messages ' +
    'messagestream metadata must name no not of on ones or parsing pending per provide ran recipient recipients ' +
    'replyto request s send sender sending server share signature size spam stream subject supported ' +
    'suppression tag textbody that the this to token tracklinks trackopens tried type valid value was with you ' +
    'your zero 500'
  ).split(' '),
)
const MASK = '[…]'
/** The start of a character that is written as a number: a secret in it must not be cut into pieces. */
const ESCAPE = /%[\da-f]{2}|&#|\\[ux]/i
const LONGEST = 500
/** A field in quotes, for example `'From'` or `'Attachments[0].Name'`. */
const FIELD = /^[A-Z]\w*(?:\[\d+\])?(?:\.[A-Z]\w*)?$/

/** A word, or several that joints connect: a token may consist of such parts, and none of them must stay. */
const WORD = /[^\s!-/:-@[-`{-~…]+(?:[-+./=_~][^\s!-/:-@[-`{-~…]+)*/g
const JOINT = /[-+./=_~]/

function isKnown(word: string): boolean {
  return VOCABULARY.has(word.toLowerCase()) || /^\d\d?$/.test(word)
}

/** The provider’s words without addresses, without quoted values, and without words that it does not use itself. */
export function maskWords(text: string): string {
  return maskAddresses(text.slice(0, LONGEST))
    .split(/(\s)/)
    .map((word) => (ESCAPE.test(word) ? MASK : word))
    .join('')
    .replaceAll(/'([^']*)'?|"([^"]*)"?|“([^”]*)”?/g, (quoted, ...[one, two, three]) =>
      FIELD.test(one ?? two ?? three) ? quoted : MASK,
    )
    .replaceAll(WORD, (word) => (word.split(JOINT).every(isKnown) ? word : MASK))
    .replaceAll(/\[…\](?:[^\w[]*\[…\])+/g, MASK)
}
