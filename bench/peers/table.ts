/** A row of the comparison, with a cell for each SDK. */
export interface ComparedRow {
  title: string
  cells: string[]
  /** How the row is run, if it differs between the SDKs. */
  note?: string | undefined
}
