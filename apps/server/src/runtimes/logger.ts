import type { Logger } from '@org/core'
import { escapeInvisible, limitLine } from '@org/core/internal'
import { pino } from 'pino'

/**
 * The host's log on Node: one JSON object per line on standard output, without characters that could forge a line or
 * overwrite it in a terminal. It does not redact: core and the host redact what they write.
 */
export function createLogger(
  { logLevel }: { logLevel: 'debug' | 'info' | 'warn' | 'error' },
  destination?: { write(line: string): void },
): Logger {
  const stream = {
    write(line: string) {
      const clean = `${escapeInvisible(line.trimEnd())}\n`
      if (destination) destination.write(clean)
      else process.stdout.write(clean)
    },
  }
  const lines = pino(
    {
      level: logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      messageKey: 'message',
      formatters: { level: (level) => ({ level }) },
    },
    stream,
  )
  return (level, message, facts) => {
    const line = limitLine(message, facts)
    lines[level](line.facts ?? {}, line.message)
  }
}
