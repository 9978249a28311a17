export interface Order<Payload = unknown> {
  id: number
  payload: Payload
}

/** The end of the work on an order. The sender of the order knows the type of the report. */
export type Outcome = { id: number } & ({ report: never } | { error: string })

/** Replies to each order of the parent process with a report. */
export function serveOrders<Payload>(work: (payload: Payload) => Promise<unknown>): void {
  process.on('message', ({ id, payload }: Order<Payload>) => {
    work(payload).then(
      (report) => process.send?.({ id, report }),
      (error: unknown) => process.send?.({ id, error: String(error) }),
    )
  })
  process.on('disconnect', () => process.exit(0))
  process.send?.({ ready: true })
}
