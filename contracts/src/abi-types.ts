/** What ethers 6 takes and gives for a contract, derived from its `as const` ABI. Types only. */
import type {
  BaseContract,
  BigNumberish,
  ContractRunner,
  ContractTransactionResponse,
  Overrides,
} from '@runnel/contracts/ethers'

interface AbiParameter {
  readonly name: string
  readonly type: string
  readonly components?: readonly AbiParameter[]
}

interface AbiItem {
  readonly type: string
  readonly name?: string
  readonly stateMutability?: string
  readonly inputs?: readonly AbiParameter[]
  readonly outputs?: readonly AbiParameter[]
}

/** The ABI of a contract, as the generated modules hold it. */
export type ContractAbi = readonly AbiItem[]

/** A decoded value, as ethers returns it: every integer is a bigint, a struct has its fields by name. */
type Output<P extends AbiParameter> = P['type'] extends `${infer Element}[]`
  ? readonly Output<ElementOf<P, Element>>[]
  : P['type'] extends 'tuple'
    ? { readonly [C in Components<P> as C['name']]: Output<C> }
    : Scalar<P['type'], bigint>

/** A value to encode, as ethers accepts it. */
type Input<P extends AbiParameter> = P['type'] extends `${infer Element}[]`
  ? readonly Input<ElementOf<P, Element>>[]
  : P['type'] extends 'tuple'
    ? { readonly [C in Components<P> as C['name']]: Input<C> }
    : Scalar<P['type'], BigNumberish>

type ElementOf<P extends AbiParameter, Type extends string> = P extends {
  readonly components: infer Cs extends readonly AbiParameter[]
}
  ? { readonly name: string; readonly type: Type; readonly components: Cs }
  : { readonly name: string; readonly type: Type }

type Components<P extends AbiParameter> = P['components'] extends readonly AbiParameter[]
  ? P['components'][number]
  : never

type Scalar<Type extends string, Integer> = Type extends `uint${string}` | `int${string}`
  ? Integer
  : Type extends 'bool'
    ? boolean
    : Type extends 'address' | 'string' | `bytes${string}`
      ? string
      : never

type Inputs<F extends AbiItem> = F['inputs'] extends infer Ps extends readonly AbiParameter[]
  ? { [I in keyof Ps]: Input<Ps[I]> }
  : []

type Result<F extends AbiItem> = F['outputs'] extends infer Ps extends readonly AbiParameter[]
  ? Ps extends readonly []
    ? void
    : Ps extends readonly [infer Only extends AbiParameter]
      ? Output<Only>
      : { [I in keyof Ps]: Output<Ps[I]> }
  : void

type View<F extends AbiItem> = (...args: [...Inputs<F>, overrides?: Overrides]) => Promise<Result<F>>

interface Write<F extends AbiItem> {
  (...args: [...Inputs<F>, overrides?: Overrides]): Promise<ContractTransactionResponse>
  /** Runs the call without sending it: returns what it would return, or throws what it would throw. */
  staticCall(...args: [...Inputs<F>, overrides?: Overrides]): Promise<Result<F>>
  /** The gas the call would use. */
  estimateGas(...args: [...Inputs<F>, overrides?: Overrides]): Promise<bigint>
}

type Method<F extends AbiItem> = F['stateMutability'] extends 'view' | 'pure' ? View<F> : Write<F>

type ItemsOf<Abi extends ContractAbi, Type extends string> = Extract<
  Abi[number],
  { readonly type: Type; readonly name: string }
>

/** An ethers contract with the functions of its ABI as typed methods. */
export type TypedContract<Abi extends ContractAbi> = Omit<BaseContract, 'connect' | 'attach'> & {
  /** The same contract, called by another signer or through another provider. */
  connect(runner: ContractRunner): TypedContract<Abi>
} & { readonly [F in ItemsOf<Abi, 'function'> as F['name']]: Method<F> }

/** The arguments of every custom error of an ABI, by the error's name. */
export type ErrorArgs<Abi extends ContractAbi> = {
  readonly [E in ItemsOf<Abi, 'error'> as E['name']]: Named<E>
}

/** The arguments of every event of an ABI, by the event's name. */
export type EventArgs<Abi extends ContractAbi> = {
  readonly [E in ItemsOf<Abi, 'event'> as E['name']]: Named<E>
}

type Named<Item extends AbiItem> = Item['inputs'] extends readonly AbiParameter[]
  ? { readonly [P in Item['inputs'][number] as P['name']]: Output<P> }
  : never
