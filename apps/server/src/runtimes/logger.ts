import { createRedactor, escapeInvisible, type Logger } from '@org/core'
import { pino } from 'pino'

/**
 * The host's log on Node: one JSON object per line on standard output, without the host's own secrets, and without
 * characters that could forge a line or overwrite it in a terminal.
 */
export function createLogger(
  { logLevel, secrets }: { logLevel: 'debug' | 'info' | 'warn' | 'error'; secrets: readonly string[] },
  destination?: { write(line: string): void },
): Logger {
  const redactor = createRedactor(secrets)
  const stream = {
    write(line: string) {
      const clean = `${escapeInvisible(redactor.text(line.trimEnd()))}\n`
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
  return (level, message, facts) => lines[level](facts ?? {}, message)
}
