// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Checkpoints} from "@openzeppelin/contracts/utils/structs/Checkpoints.sol";
import {IDelegations} from "./IDelegations.sol";

/// @title Delegations that their users ended
abstract contract Delegations is IDelegations {
    using Checkpoints for Checkpoints.Trace208;

    /// @notice How far after the block's time the delegations that a user ends may begin.
    uint256 public constant MAX_AHEAD_MS = 1 days * 1000;

    mapping(address user => mapping(address delegate => uint64)) private _delegateRevokedAt;
    /// @dev By the time at which or before which a delegation began: when it was ended. Both only grow, so that a later ending does
    /// not make an earlier one look younger.
    mapping(address user => Checkpoints.Trace208) private _revokedAt;

    /// @inheritdoc IDelegations
    function revokeDelegate(address delegate) external {
        if (_delegateRevokedAt[msg.sender][delegate] != 0) return;
        _delegateRevokedAt[msg.sender][delegate] = uint64(block.timestamp);
        emit DelegateRevoked(msg.sender, delegate);
    }

    /// @inheritdoc IDelegations
    function revokeDelegations(uint48 begunByMs) external {
        uint256 maxMs = block.timestamp * 1000 + MAX_AHEAD_MS;
        if (begunByMs > maxMs) revert Delegations__TimeInFuture(begunByMs, maxMs);
        (bool exists, uint48 latestMs,) = _revokedAt[msg.sender].latestCheckpoint();
        if (exists && begunByMs <= latestMs) return;
        _revokedAt[msg.sender].push(begunByMs, uint208(block.timestamp));
        emit DelegationsRevoked(msg.sender, begunByMs);
    }

    /// @inheritdoc IDelegations
    function delegationRevokedAt(address user, address delegate, uint48 fromMs) external view returns (uint64) {
        uint64 one = _delegateRevokedAt[user][delegate];
        uint64 all = uint64(_revokedAt[user].lowerLookup(fromMs));
        return one == 0 || (all != 0 && all < one) ? all : one;
    }
}
