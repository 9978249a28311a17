import type { Serializable } from 'node:child_process'

/** Answers each order from the parent process with a report. */
export function serveOrders<Order>(work: (order: Order) => Promise<Serializable>): void {
  process.on('message', (order: Order) => {
    work(order).then(
      (report) => process.send?.(report),
      (error: unknown) => process.send?.({ error: String(error) }),
    )
  })
  process.on('disconnect', () => process.exit(0))
  process.send?.({ ready: true })
}
