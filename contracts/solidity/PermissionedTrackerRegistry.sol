// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {EnumerableSet} from "@openzeppelin/contracts/utils/structs/EnumerableSet.sol";
import {IPermissionedTrackerRegistry} from "./IPermissionedTrackerRegistry.sol";
import {TrackerRegistry} from "./TrackerRegistry.sol";

/// @title The trackers of a private network, and the nodes that may take part in it
contract PermissionedTrackerRegistry is IPermissionedTrackerRegistry, TrackerRegistry {
    using EnumerableSet for EnumerableSet.AddressSet;

    /// @notice Most nodes in one call.
    uint256 public constant MAX_NODES_PER_CALL = 200;

    EnumerableSet.AddressSet private _nodes;

    /// @param owner who may list nodes, and admit and remove trackers
    constructor(address owner) TrackerRegistry(owner) {}

    /// @inheritdoc IPermissionedTrackerRegistry
    function allowNodes(address[] calldata nodes) external onlyOwner {
        _checkCount(nodes.length);
        for (uint256 i = 0; i < nodes.length; i++) {
            if (nodes[i] == address(0)) revert PermissionedTrackerRegistry__InvalidNode(nodes[i]);
            if (_nodes.add(nodes[i])) emit NodeAllowed(nodes[i]);
        }
    }

    /// @inheritdoc IPermissionedTrackerRegistry
    function removeNodes(address[] calldata nodes) external onlyOwner {
        _checkCount(nodes.length);
        for (uint256 i = 0; i < nodes.length; i++) {
            if (_nodes.remove(nodes[i])) emit NodeRemoved(nodes[i]);
        }
    }

    /// @inheritdoc IPermissionedTrackerRegistry
    function isNodeAllowed(address node) external view returns (bool) {
        return _nodes.contains(node);
    }

    /// @inheritdoc IPermissionedTrackerRegistry
    function nodeCount() external view returns (uint256) {
        return _nodes.length();
    }

    /// @inheritdoc IPermissionedTrackerRegistry
    function listNodes(uint256 offset, uint256 limit) external view returns (address[] memory) {
        return _nodes.values(offset, Math.saturatingAdd(offset, limit));
    }

    /// @inheritdoc TrackerRegistry
    function supportsInterface(bytes4 interfaceId) public view override returns (bool) {
        return interfaceId == type(IPermissionedTrackerRegistry).interfaceId || super.supportsInterface(interfaceId);
    }

    function _checkCount(uint256 count) private pure {
        if (count > MAX_NODES_PER_CALL) revert PermissionedTrackerRegistry__TooManyNodes(count, MAX_NODES_PER_CALL);
    }
}
