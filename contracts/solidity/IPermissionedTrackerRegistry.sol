// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @title The second list of a private network's tracker registry: the nodes that may take part
/// @notice The owner of the registry lists nodes; trackers and listed nodes refuse all others.
/// The owner can be a contract, such as the multisig of a consortium. A change of many nodes may overlap with one that
/// was made meanwhile: entries that change nothing are skipped, without an event.
interface IPermissionedTrackerRegistry {
    /// @notice A node was listed.
    event NodeAllowed(address indexed node);
    /// @notice A node was removed from the list.
    event NodeRemoved(address indexed node);

    /// @notice The zero address cannot be a node.
    error PermissionedTrackerRegistry__InvalidNode(address node);
    /// @notice More nodes at once than fit into a block.
    error PermissionedTrackerRegistry__TooManyNodes(uint256 count, uint256 maxCount);

    /// @notice Lists nodes. Only the owner of the registry may.
    function allowNodes(address[] calldata nodes) external;

    /// @notice Removes nodes from the list. Only the owner of the registry may.
    function removeNodes(address[] calldata nodes) external;

    /// @notice Whether the node may take part.
    /// @param node Ethereum address of the node's key, which is its node id
    function isNodeAllowed(address node) external view returns (bool);

    /// @notice How many nodes are listed.
    function nodeCount() external view returns (uint256);

    /// @notice At most `limit` listed nodes from position `offset`; fewer, or none, past the end.
    /// @dev A removal moves the last node into the gap: read all pages at one block number.
    function listNodes(uint256 offset, uint256 limit) external view returns (address[] memory);
}
