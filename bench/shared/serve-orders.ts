/** Replies to each order of the parent process with a report. A failure ends the process. */
export function serveOrders<Order>(work: (order: Order) => Promise<object>): void {
  process.on('message', async (order: Order) => process.send?.(await work(order)))
  process.on('disconnect', () => process.exit(0))
  process.send?.({})
}
