// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @title Delegations that their users ended
/// @notice A user signs delegations without a transaction: each lets a key, the delegate, act for the user. Here the user ends
/// them before their time. What is ended stays ended. Times of delegations are unix milliseconds, as in what the user signs;
/// times of endings are unix seconds, of the block that ended them.
interface IDelegations {
    /// @notice No delegation of the user to this delegate holds any longer.
    event DelegateRevoked(address indexed user, address indexed delegate);
    /// @notice No delegation of the user that began at this time or before holds any longer.
    event DelegationsRevoked(address indexed user, uint48 begunByMs);

    /// @notice The time is further after the block's than clocks differ: the user could not delegate until then.
    error Delegations__TimeInFuture(uint48 begunByMs, uint256 maxMs);

    /// @notice Ends every delegation of the caller to a delegate, for ever. No change where that was done before.
    function revokeDelegate(address delegate) external;

    /// @notice Ends every delegation of the caller that began at a time or before, whoever the delegate. No change where that was
    /// done before, for this time or a later one.
    /// @param begunByMs at most a day after the block's time
    function revokeDelegations(uint48 begunByMs) external;

    /// @notice When the user ended a delegation: the first time; 0 when it did not.
    /// @param fromMs when the delegation begins
    function delegationRevokedAt(address user, address delegate, uint48 fromMs) external view returns (uint64);
}
