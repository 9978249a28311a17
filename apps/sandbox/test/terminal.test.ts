import { describe, expect, it } from 'vitest'
import { paint, truncate, truncateStart, wrap } from '../src/terminal.ts'

describe('a line', () => {
  it('has colours only where they are wanted', () => {
    expect(paint([['red', 'no'], ' way'], { colours: false })).toBe('no way')
    expect(paint([['red', 'no'], ' way'], { colours: true })).toBe('\u001b[31mno\u001b[39m way')
  })

  it('shows control characters instead of obeying them', () => {
    expect(paint(['a\u001b[2J\nb'], { colours: false })).toBe('a·[2J·b')
  })

  it('is cut off with a mark, at either end, never within a character', () => {
    expect(truncate('abcdef', 4)).toBe('abc…')
    expect(truncateStart('abcdef', 4)).toBe('…def')
    expect(truncate('😀😀😀', 2)).toBe('😀…')
    expect(truncate('abcd', 4)).toBe('abcd')
  })
})

describe('a long text', () => {
  it('is broken between words', () => {
    expect(wrap('one two three four', 9)).toEqual(['one two', 'three', 'four'])
  })

  it('is broken within a word that does not fit otherwise', () => {
    expect(wrap('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij'])
  })

  it('is broken before a long word that fits into the next line, though the line stays short', () => {
    expect(wrap('id app_1234567 made', 12)).toEqual(['id', 'app_1234567', 'made'])
  })

  it('is cut off after the last line that it may take', () => {
    expect(wrap('one two three four', 9, 2)).toEqual(['one two', 'three fo…'])
  })
})
